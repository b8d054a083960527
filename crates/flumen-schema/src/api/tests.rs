use super::{Api, Form, Presence, Scope, Topology};

#[test]
fn every_line_of_the_facts_is_understood() {
    let text = include_str!("facts.txt");
    let api = Api::get();
    let count = |prefix: &str| text.lines().filter(|line| line.starts_with(prefix)).count();
    assert_eq!(api.kinds().len(), count("kind "));
    assert_eq!(api.messages().len(), count("message "));
    assert_eq!(api.types().len(), count("type "));
    let subresources: usize = api.kinds().iter().map(|kind| kind.subresources.len()).sum();
    let members: usize = api.types().iter().map(|t| t.fields.len() + t.embedded.len()).sum();
    assert_eq!(subresources + members, count("  "));
}

#[test]
fn types_are_found_by_name() {
    let api = Api::get();
    for name in api.types().iter().map(|t| t.name) {
        let id = api.type_named(name).unwrap_or_else(|| panic!("{name} is not found"));
        assert_eq!(api.type_of(id).name, name);
    }
    // Whatever is named by a field must be there; an unknown name would be the first type.
    let first = api.types()[0].name;
    let strays = api.types().iter().flat_map(|t| &t.fields).filter(|field| {
        matches!(&field.form, Form::Struct(id) if api.type_of(*id).name == first)
            && !include_str!("facts.txt").contains(&format!("{} {first}", field.name))
    });
    assert_eq!(strays.count(), 0);
}

#[test]
fn facts_of_a_deployment() {
    let api = Api::get();
    let kind = api.kind("apps", "v1", "Deployment").expect("Deployments are served");
    assert_eq!((kind.plural, kind.scope), ("deployments", Scope::Namespaced));
    assert_eq!(kind.short_names, ["deploy"]);
    assert_eq!(kind.subresources.iter().map(|s| s.name).collect::<Vec<_>>(), ["scale", "status"]);
    assert_eq!(kind.subresources[0].group, "autoscaling");
    let deployment = api.type_of(kind.object);
    let spec = deployment.field("spec").expect("it has a spec");
    let Form::Struct(spec) = spec.form else { panic!("{:?}", spec.form) };
    let replicas = api.type_of(spec).field("replicas").expect("it has replicas");
    assert_eq!((replicas.number, replicas.presence), (1, Presence::Given));
}

#[test]
fn facts_of_lists() {
    let api = Api::get();
    let container = api.type_of(api.type_named("api.core.v1.Container").expect("is a type"));
    let ports = container.field("ports").expect("it has ports");
    assert_eq!(ports.topology, Topology::Map(vec!["containerPort", "protocol"]));
    assert_eq!(ports.patch.key, Some("containerPort"));
    let command = container.field("command").expect("it has a command");
    assert_eq!(command.topology, Topology::Atomic);
    let port = api.type_of(api.type_named("api.core.v1.ContainerPort").expect("is a type"));
    assert_eq!(port.field("protocol").and_then(|f| f.default), Some("\"TCP\""));
}

#[test]
fn an_embedded_message_keeps_its_fields_to_itself() {
    let api = Api::get();
    let volume = api.type_of(api.type_named("api.core.v1.Volume").expect("is a type"));
    assert_eq!(volume.field("name").map(|f| f.number), Some(1));
    assert_eq!(volume.field("hostPath").map(|f| f.number), Some(0));
    assert_eq!(volume.embedded.iter().map(|e| e.number).collect::<Vec<_>>(), [2]);
}

#[test]
fn values_may_have_spaces() {
    let api = Api::get();
    let name = "api.certificates.v1.CertificateSigningRequestSpec";
    let spec = api.type_of(api.type_named(name).expect("is a type"));
    let usages = spec.field("usages").expect("it has usages");
    assert!(usages.values.contains(&"cert sign"), "{:?}", usages.values);
}
